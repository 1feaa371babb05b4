// A server of the built dashboard whose API answers from recordings. A test holds answers back, speaks on the stream, and
// sees what was asked. With LIMNOGRAPH_RECORD=URL it asks that server what is not recorded yet, and keeps the answer.
import { readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { root } from '../browser.ts';
import { forecastAnswer } from './forecast-story.ts';
import { lineageAnswer } from './lineage-story.ts';
import { DASHBOARD, HEADERS } from './headers.ts';
import { maintenanceAnswer } from './maintenance-story.ts';
import { Notebook } from './notebook.ts';
import { Past } from './past.ts';
import { nearestTo, questionOf, readAll, write, type Recorded } from './recordings.ts';

const MIME: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.html': 'text/html; charset=utf-8',
};
const source = process.env['LIMNOGRAPH_RECORD'];
const recordings = readAll();

/** What the link of an alert was answered: where it leads. */
const isRedirect = (status: number, body: unknown): body is { location: string } =>
  status === 303 && typeof body === 'object' && body !== null && 'location' in body;

export class Stub {
  /** What pages asked the API, in order; the stream is not a question. */
  readonly asked: string[] = [];
  /** Documents and files of the build that were sent. */
  readonly sent: string[] = [];
  /** What happened, in order: a question, its answer. */
  readonly log: string[] = [];
  /** Questions without a recording: the test that asked them fails. */
  readonly unknown: string[] = [];
  /** False: a question without a recording gets none, also while others are recorded. */
  records = true;
  /** True: it gets what was recorded for one like it, which is enough for walks that read no numbers. */
  nearest = false;
  /** What people wrote. */
  readonly notebook = new Notebook();
  url = '';
  /** Streams that were opened, and those that were refused, so far. */
  streams = 0;
  refused = 0;

  readonly #server: Server;
  readonly #headers: Record<string, string>;
  readonly #listeners = new Set<ServerResponse>();
  #past: Past | undefined;
  #gate: Promise<void> | undefined;
  #refuses = false;
  #renamed: [string, string] = ['', ''];

  constructor() {
    this.#headers = JSON.parse(process.env[HEADERS] ?? '{}') as Record<string, string>;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        this.unknown.push(`${request.url}: ${String(error)}`);
        response.destroy();
      });
    });
    // the default of five seconds resets idle connections, at times under the request that uses one again
    this.#server.keepAliveTimeout = 600_000;
  }

  async open(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** Answers of the API wait until the returned function is called. */
  hold(): () => void {
    let release = () => {};
    this.#gate = new Promise((done) => (release = done));
    return () => {
      this.#gate = undefined;
      release();
    };
  }

  /** Says something on the stream of every page. */
  tell(
    event: 'alert' | 'commit' | 'finding' | 'note' | 'table' | 'sources',
    data: unknown,
    id: string,
  ): void {
    for (const response of this.#listeners)
      response.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Cuts the streams; with `refuse` no new one is opened until `accept`. */
  cut({ refuse }: { refuse: boolean }): void {
    this.#refuses = refuse;
    for (const response of this.#listeners) response.destroy();
    this.#listeners.clear();
  }

  accept(): void {
    this.#refuses = false;
  }

  /** What pages call `shown` in their questions was recorded as `recorded`. */
  rename(shown: string, recorded: string): void {
    this.#renamed = [shown, recorded];
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL((request.url ?? '/').replace(...this.#renamed), this.url);
    for (const [name, value] of Object.entries(this.#headers)) response.setHeader(name, value);
    if (url.pathname === '/api/v1/stream') return this.#stream(response);
    if (url.pathname === '/api/v1/notes') return this.#notes(url, request, response);
    if (url.pathname.startsWith('/api/') || url.pathname === '/a') return this.#api(url, response);
    if (url.pathname.startsWith('/docs/runbooks/')) return this.#runbook(url.pathname, response);
    this.#file(url.pathname, response);
  }

  async #api(url: URL, response: ServerResponse): Promise<void> {
    const question = questionOf(url);
    this.asked.push(question);
    this.log.push(`asked ${url.pathname}`);
    const told = maintenanceAnswer(url) ?? forecastAnswer(url) ?? lineageAnswer(url);
    const recorded =
      (told && { status: 200, body: told }) ??
      recordings.get(question) ??
      (this.nearest ? nearestTo(url, recordings) : source && this.records && (await this.#record(url)));
    if (url.pathname !== '/a') await this.#gate; // a link has to lead somewhere first
    this.log.push(`answered ${url.pathname}`);
    if (recorded) return this.#send(response, recorded.status, recorded.body);
    this.unknown.push(question);
    this.#send(response, 501, { type: 'not-recorded', title: 'Not recorded', status: 501, detail: question });
  }

  async #notes(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const part of request) body += String(part);
    await this.#gate;
    const posted = request.method === 'POST';
    const answer = posted ? this.notebook.post(JSON.parse(body)) : this.notebook.list(url.searchParams);
    this.#send(response, answer.status, answer.body);
    if (posted && answer.status < 300) this.tell('note', answer.body, 'x-note');
  }

  async #record(url: URL): Promise<Recorded> {
    this.#past ??= new Past();
    const recorded = await this.#past.ask(source!, url);
    recordings.set(recorded.asked, recorded);
    write(recorded);
    return recorded;
  }

  #send(response: ServerResponse, status: number, body: unknown): void {
    if (isRedirect(status, body)) return void response.writeHead(status, { location: body.location }).end();
    response.statusCode = status;
    response.setHeader('content-type', status < 400 ? 'application/json' : 'application/problem+json');
    response.end(JSON.stringify(body));
  }

  #stream(response: ServerResponse): void {
    if (this.#refuses) {
      this.refused += 1;
      return void response.writeHead(503).end();
    }
    this.streams += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 2000\n\n');
    this.#listeners.add(response);
    response.on('close', () => this.#listeners.delete(response));
  }

  /** As the server has it: the text of docs/runbooks. */
  #runbook(path: string, response: ServerResponse): void {
    const file = join(root, `${normalize(path)}.md`);
    const found = statSync(file, { throwIfNoEntry: false })?.isFile();
    response.writeHead(found ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(found ? readFileSync(file) : '');
  }

  #file(path: string, response: ServerResponse): void {
    this.sent.push(path);
    const file = join(DASHBOARD, normalize(path));
    const found = path !== '/' && statSync(file, { throwIfNoEntry: false })?.isFile();
    if (!found && path.startsWith('/_app/')) return void response.writeHead(404).end();
    const immutable = path.startsWith('/_app/immutable/');
    response.setHeader('cache-control', immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
    response.setHeader('content-type', MIME[found ? extname(path) : '.html'] ?? 'application/octet-stream');
    response.end(readFileSync(found ? file : join(DASHBOARD, '200.html')));
  }
}
