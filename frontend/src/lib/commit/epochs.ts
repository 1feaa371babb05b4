// What a commit says about its stream: query and epoch, and what is wrong with their order. Draws nothing.
import type { Schemas } from '#lib/api/client.ts';
import { count } from '#lib/format/count.ts';

type Stream = Schemas['StreamEpoch'];

/** `Epoch 41 of Spark query`, `Checkpoint 9 of Flink job`; the id follows. */
export function streamName(stream: Stream): string {
  const [number, query] = stream.engine === 'spark' ? ['Epoch', 'Spark query'] : ['Checkpoint', 'Flink job'];
  return stream.number === null
    ? `${query}, ${number.toLowerCase()} not stated`
    : `${number} ${count(stream.number)} of ${query}`;
}

/** What is wrong with the order of the epochs, with what it may mean; null if nothing is, or it is not known. */
export function epochProblem(stream: Stream): string | null {
  const last = stream.earlier?.number ?? null;
  switch (stream.order) {
    case 'gap': {
      const [from, to] = [stream.missing_first ?? 0, stream.missing_last ?? 0];
      const missing = from === to ? `Epoch ${count(from)} has` : `Epochs ${count(from)} to ${count(to)} have`;
      return `${missing} no commit on main: it expired, it was rolled back, or its rows were never written.`;
    }
    case 'repeated':
      return `Epoch ${last === null ? 'unknown' : count(last)} of this query was committed before: its rows may be in the table twice.`;
    case 'new_query':
      return `Another query had reached epoch ${last === null ? 'unknown' : count(last)}. If it was the same stream, its checkpoint was lost: compare the table with its source, because rows may be there twice, or missing.`;
    default:
      return null;
  }
}
