// Names what passed only at the second try, where `.ci/run` looks for it: a scenario that fails now and then is a fault,
// in the page or in itself, and a green run must not hide it.
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { FullConfig, Reporter, Suite } from '@playwright/test/reporter';
import { root } from './browser.ts';

const UNSTEADY = join(root, '.pytest_cache/unsteady');

export default class Unsteady implements Reporter {
  #suite: Suite | undefined;

  onBegin(_config: FullConfig, suite: Suite): void {
    this.#suite = suite;
  }

  onEnd(): void {
    const tests = this.#suite?.allTests().filter((test) => test.outcome() === 'flaky') ?? [];
    if (!tests.length) return;
    mkdirSync(dirname(UNSTEADY), { recursive: true });
    for (const { location, title } of tests)
      appendFileSync(UNSTEADY, `${relative(root, location.file)}:${location.line} ${title}\n`);
  }

  printsToStdio(): boolean {
    return false;
  }
}
