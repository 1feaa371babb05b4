// What the plan of an operation promised, and where its page is. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { bytes } from '#lib/format/bytes.ts';
import { count } from '#lib/format/count.ts';

interface Plan {
  promised: Schemas['Predicted'];
  result: Schemas['PlanResult'] | null;
}

/** `promised 1,840 files into 22, confirmed 1,840 into 22`: for a line beside the effect; empty where nothing is known. */
export function promiseWords(plan: Plan): string {
  const files = (sums: { files_in: number | null; files_out: number | null }) =>
    sums.files_in === null || sums.files_out === null
      ? null
      : `${count(sums.files_in)} files into ${count(sums.files_out)}`;
  const freed = (value: number | null) => (value === null ? null : `${bytes(value)} freed`);
  const promised = files(plan.promised) ?? freed(plan.promised.bytes_freed);
  const confirmed = plan.result && (files(plan.result) ?? freed(plan.result.bytes_freed));
  return [promised && `promised ${promised}`, confirmed && `confirmed ${confirmed}`]
    .filter(Boolean)
    .join(', ');
}

/** The page of one plan. */
export const planPath = (planId: string): string => `/maintenance/plans/${encodeURIComponent(planId)}`;
