// Hands a text or a picture to the browser as a file. Nothing leaves the page: the address is a blob of our own.

/** What a file name may not hold on some system, and what would lead out of a folder. */
const fileName = (name: string) => name.replace(/[^\w.\- ]+/g, '_').replace(/^\.+/, '');

export const downloadText = (name: string, type: string, text: string): void =>
  download(name, new Blob([text], { type: `${type};charset=utf-8` }));

export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = Object.assign(document.createElement('a'), { href: address, download: fileName(name) });
  link.click();
  // the browser has taken it by then
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
