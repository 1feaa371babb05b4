// One plan and the decisions on it: asks when it is shown, when the stream reports a transition, and every few seconds
// while the plan moves without a user.
import { live } from '#lib/live/live.svelte.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import type { ApiProblem } from '#lib/api/problem.ts';
import { problemFrom } from '#lib/api/problem.ts';
import { announce } from '#lib/ui/announce.svelte.ts';
import { decide, getPlan, type Decision, type PlanDetail } from './api.ts';
import { DECISIONS, isMoving } from './words.ts';

const AGAIN_MS = 4_000;
const CONFLICT = 409;

/** Call while a component initialises. */
export class PlanDecisionView {
  readonly plan = new Resource<PlanDetail>();
  /** Why the last decision failed. */
  problem = $state.raw<ApiProblem | undefined>();
  pending = $state(false);
  readonly #id: () => string;

  constructor(id: () => string) {
    this.#id = id;
    $effect(() => {
      const mine = id();
      this.ask();
      const ends = [
        live.on('plan', (event) => {
          if (event.plan_id === mine) this.ask();
        }),
        live.onBehind(() => this.ask()),
      ];
      return () => {
        for (const end of ends) end();
        this.plan.clear();
        this.problem = undefined;
      };
    });
    $effect(() => {
      if (!this.plan.data || !isMoving(this.plan.data.state)) return;
      const timer = setInterval(() => this.ask(), AGAIN_MS);
      return () => clearInterval(timer);
    });
  }

  get id(): string {
    return this.#id();
  }

  ask(): void {
    const id = this.#id();
    void this.plan.ask((signal) => getPlan(id, signal));
  }

  /** Takes a decision on the plan as it is shown; whether it was recorded. */
  async decide(decision: Decision, reason: string): Promise<boolean> {
    const seen = this.plan.data;
    if (!seen) return false;
    this.pending = true;
    try {
      await decide(decision, seen, reason.trim());
      this.problem = undefined;
      announce(DECISIONS[decision].done);
      return true;
    } catch (thrown) {
      this.problem = problemFrom(thrown);
      return this.problem.status === CONFLICT;
    } finally {
      this.pending = false;
      this.ask();
    }
  }
}
