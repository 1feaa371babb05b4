// What went wrong on the way to the API, as one error class: problem details when it sent some, else our own words.
import type { components } from './schema.d.ts';

type Problem = components['schemas']['Problem'];

/** `offline`: no answer came; `bad-answer`: an answer that is not ours (a proxy's page, broken JSON). */
export type ProblemKind = Problem['type'] | 'offline' | 'bad-answer';

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';

  constructor(
    readonly kind: ProblemKind,
    /** HTTP status; 0 when no answer came. */
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    /** Name of the parameter that the API refuses. */
    readonly field: string | null = null,
    readonly requestId: string | null = null,
    /** The whole answer: some problems carry more. */
    readonly body: unknown = null,
  ) {
    super(detail || title);
  }
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'type' in body && 'title' in body && 'detail' in body;
}

/** From an answer that is not 2xx; `body` is what could be read of it. */
export function problemOf(status: number, body: unknown): ApiProblem {
  if (!isProblem(body)) {
    const detail = `The response (status ${status}) did not come from Limnograph; a proxy may have sent it.`;
    return new ApiProblem('bad-answer', status, 'Unexpected response', detail);
  }
  return new ApiProblem(
    body.type,
    status,
    body.title,
    body.detail,
    body.field ?? null,
    body.request_id ?? null,
    body,
  );
}

/** From whatever a request threw. An aborted request is rethrown: nothing waits for it. */
export function problemFrom(thrown: unknown): ApiProblem {
  if (thrown instanceof ApiProblem) return thrown;
  if (thrown instanceof DOMException && thrown.name === 'AbortError') throw thrown;
  if (thrown instanceof SyntaxError)
    return new ApiProblem('bad-answer', 200, 'Unexpected response', 'The response is not valid JSON.');
  const detail = 'The server is not responding. It may be restarting, or the network may be down.';
  return new ApiProblem('offline', 0, 'No response', detail);
}
