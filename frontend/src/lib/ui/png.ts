// An SVG as pixels, twice as many as its size says: sharp on paper and on dense screens.

const DENSITY = 2;

/** Rejects when the browser cannot draw it. */
export async function pngOf(picture: { svg: string; width: number; height: number }): Promise<Blob> {
  const image = new Image(picture.width, picture.height);
  // the policy of the page lets pictures come from data, not from blobs
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture.svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [picture.width * DENSITY, picture.height * DENSITY];
  const context = canvas.getContext('2d');
  if (!context) throw new Error('no canvas');
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error('no picture'))), 'image/png'),
  );
}
