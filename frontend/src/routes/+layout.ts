// A static single-page app: nothing is rendered on a server, nothing ahead of time.
export const ssr = false;
export const prerender = false;
