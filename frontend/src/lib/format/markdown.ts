// Text that others chose, in Markdown: it stays text, and cannot add a link, a mention or markup. Pure.

/** What keeps a sign from being read as the start of a mention, an issue or a link; it takes no room. */
const JOINER = '\u2060';
/** What turns the order of writing around or takes no room. */
const UNSEEN = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;

/** Only what Markdown would read is escaped: a chat that knows no escapes would print each backslash. */
export const markdownText = (text: string): string =>
  text
    .replaceAll(UNSEEN, '')
    .replace(/\s+/g, ' ')
    .replace(/[\\`*[\]<>|~]/g, '\\$&')
    // between letters and digits an underscore is only itself
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/[@#]/g, `$&${JOINER}`)
    .replace(/\b([a-z][a-z0-9+.-]*):(?=\/\/)/gi, `$1:${JOINER}`)
    .replace(/\b(www)\./gi, `$1${JOINER}.`);
