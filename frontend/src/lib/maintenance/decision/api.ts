// Plans and decisions on them: of parts that are loaded on demand, hence not in the client.
import { request, type Schemas } from '#lib/api/client.ts';

export type PlanDetail = Schemas['PlanDetail'];
export type PlanView = Schemas['PlanView'];
export type Decision = PlanDetail['can'][number];

export const getPlan = (planId: string, signal?: AbortSignal) =>
  request('get', '/api/v1/maintenance/{plan_id}', { path: { plan_id: planId } }, signal);

/** What the user saw: a decision applies to exactly this, and conflicts if the plan has moved on. */
export type SeenPlan = Pick<PlanView, 'plan_id' | 'seq' | 'arguments_sha256'>;

/** Takes a decision. `reason`: plain text for the others; empty: none. */
export function decide(decision: Decision, seen: SeenPlan, reason: string): Promise<PlanView> {
  if (decision === 'propose')
    return request('post', '/api/v1/maintenance/plans', {
      body: { plan_id: seen.plan_id, reason: reason || null },
    });
  const body = { arguments_sha256: seen.arguments_sha256 ?? '', seq: seen.seq, reason: reason || null };
  return request('post', `/api/v1/maintenance/{plan_id}/${decision}`, {
    path: { plan_id: seen.plan_id },
    body,
  });
}

export const listBreakers = (signal?: AbortSignal) =>
  request('get', '/api/v1/maintenance/breakers', {}, signal);

export const closeBreaker = (key: string) =>
  request('post', '/api/v1/maintenance/breakers/close', { body: { key } });
