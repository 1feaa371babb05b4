// Stands in for the package `devalue` in the browser: Kit writes the state of shallow routes with it and reads what a
// rendering server sent. This dashboard has neither (see vite.config.ts); its state is the URL.

export const stringify = (state: unknown): string => JSON.stringify(state);
export const parse = (text: string): unknown => JSON.parse(text);

function missing(): never {
  throw new Error('The dashboard is not server-rendered; a page with server data needs the devalue package.');
}
export const unflatten = missing;
export const uneval = missing;
