// The timeline as a person meets it: lanes by their names, the cursor as a slider, marks as buttons.
import { type Locator, type Page, expect } from '@playwright/test';

export class TimelinePage {
  readonly panel: Locator;
  readonly slider: Locator;

  constructor(readonly page: Page) {
    this.panel = page.getByRole('region', { name: 'Timeline' });
    this.slider = page.getByRole('slider', { name: 'Time cursor' });
  }

  /** The drawing of a lane, named by its heading and its summary. */
  drawing(title: string): Locator {
    return this.panel.getByRole('img', { name: new RegExp(`^${title}`) });
  }

  /** Waits until the answer is drawn. */
  async drawn(): Promise<void> {
    await expect(this.drawing('Data files')).toBeVisible();
  }

  /** Presses at one fraction of a lane's width, moves to another, lets go. */
  async drag(title: string, from: number, to: number): Promise<void> {
    const box = await this.box(title);
    const y = box.y + box.height * 0.7;
    await this.page.mouse.move(box.x + box.width * from, y);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x + box.width * ((from + to) / 2), y, { steps: 4 });
    await this.page.mouse.move(box.x + box.width * to, y, { steps: 4 });
    await this.page.mouse.up();
  }

  async hover(title: string, where: number): Promise<void> {
    const box = await this.box(title);
    await this.page.mouse.move(box.x + box.width * where, box.y + box.height / 2);
  }

  /** Epoch ms at both ends of the time cursor's way: the range that is shown. */
  async range(): Promise<[number, number]> {
    const ends = await Promise.all(
      ['aria-valuemin', 'aria-valuemax'].map((name) => this.slider.getAttribute(name)),
    );
    return [Number(ends[0]), Number(ends[1])];
  }

  /** What stands beside a lane: its value at the cursor. */
  gutter(title: string): Locator {
    return this.panel
      .locator('.row', { has: this.page.getByRole('heading', { name: title, level: 3 }) })
      .locator('.gutter');
  }

  /** Presses a key until the cursor would pass an instant. */
  async steps(key: string, until: number): Promise<void> {
    for (let before = -1; ;) {
      const now = Number(await this.slider.getAttribute('aria-valuenow'));
      const width = before < 0 ? 0 : now - before;
      if (now + width > until || now === until) return;
      before = now;
      await this.page.keyboard.press(key);
      await expect(this.slider).not.toHaveAttribute('aria-valuenow', String(now));
    }
  }

  private async box(title: string): Promise<{ x: number; y: number; width: number; height: number }> {
    const drawing = this.drawing(title);
    await drawing.scrollIntoViewIfNeeded();
    const box = await drawing.boundingBox();
    if (!box) throw new Error(`lane ${title} is not drawn`);
    return box;
  }
}
