// What outlives a navigation: where one was on a page, and the page itself until the next one has come.
export { keepPage } from './kept-page.ts';
export { keepScroll } from './kept-scroll.ts';
