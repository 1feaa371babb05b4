// One request to the API, typed by the OpenAPI document: parameters and body in, the JSON of a success or of a problem out.
// Its own forty lines: a client for every method, style and middleware was 2.5 KB gzip of each first load.
import { fetchTwice } from './retry.ts';
import type { paths } from './schema.d.ts';

type Method = 'get' | 'post';
type Operation<M extends Method, P extends keyof paths> = paths[P] extends Record<M, infer O> ? O : never;
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;

type PathInput<O> = O extends { parameters: { path: infer T } } ? { path: T } : { path?: never };
type QueryInput<O> = O extends { parameters: { query?: infer T } } ? { query?: T } : { query?: never };
type BodyInput<O> = O extends { requestBody: infer T } ? { body: Json<T> } : { body?: never };
type Input<O> = PathInput<O> & QueryInput<O> & BodyInput<O>;

/** Paths of the document that have the method. */
export type PathWith<M extends Method> = {
  [P in keyof paths]: [Operation<M, P>] extends [{ responses: object }] ? P : never;
}[keyof paths];
export type RequestInput<M extends Method, P extends keyof paths> = Input<Operation<M, P>>;
export type SuccessBody<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { responses: { 200: infer T } }
    ? Json<T>
    : Operation<M, P> extends { responses: { 201: infer T } }
      ? Json<T>
      : never;

interface AnyInput {
  readonly path?: object;
  readonly query?: object;
  readonly body?: unknown;
}

/** `/a/{b}?c=1`: values are escaped, those that are absent left out, each value of a list is a parameter of its own. */
export function addressOf(path: string, { path: values = {}, query = {} }: AnyInput): string {
  const filled = Object.entries(values).reduce<string>(
    (text, [name, value]) => text.replace(`{${name}}`, () => encodeURIComponent(String(value))),
    path,
  );
  const pairs = Object.entries(query)
    .flatMap(([name, value]) => [value].flat().map((each) => [name, each] as const))
    .filter(([, each]) => each !== undefined && each !== null)
    .map((pair) => pair.map((each) => encodeURIComponent(String(each))).join('='));
  return pairs.length ? `${filled}?${pairs.join('&')}` : filled;
}

/** The answer as it came. `body` is undefined where there is none, and text where a failure is not JSON. */
export async function send(
  method: Method,
  path: string,
  input: AnyInput,
  signal: AbortSignal | null,
): Promise<{ response: Response; body: unknown }> {
  const request = new Request(new URL(addressOf(path, input), location.href), {
    method: method.toUpperCase(),
    signal,
    ...(input.body !== undefined && {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(input.body),
    }),
  });
  const response = await fetchTwice(request);
  const text = await response.text();
  return { response, body: text ? parse(text, response.ok) : undefined };
}

function parse(text: string, strictly: boolean): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    if (strictly) throw thrown;
    return text;
  }
}
