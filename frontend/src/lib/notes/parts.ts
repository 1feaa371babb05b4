// What pages load of notes once what users wait for is drawn: the panel and its state, in one piece of the build.
export { default as NotesPanel } from './NotesPanel.svelte';
export { NotesView } from './NotesView.svelte.ts';
