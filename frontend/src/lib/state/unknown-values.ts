// Which parameters of an address hold a value that a page does not offer: the page shows what is usual, and says so. Pure.

/** Of a parameter's values those that are known, or what tells them. */
type Known = readonly string[] | ((text: string) => boolean);

/** Names whose value is not known; one that is absent or empty asks for nothing. */
export const findUnknownValues = (
  params: URLSearchParams,
  offered: Readonly<Record<string, Known>>,
): string[] =>
  Object.entries(offered)
    .filter(([name, known]) => {
      const text = params.get(name);
      return text && !(typeof known === 'function' ? known(text) : known.includes(text));
    })
    .map(([name]) => name);
