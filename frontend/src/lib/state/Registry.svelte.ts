// What open components hand to the frame around them: tools, a title, commands. The newest is shown; when its component
// leaves, the one below it is.

export class Registry<T> {
  // a plain list: inside a teardown Svelte reads a $state as it was before the flush, so that a page which leaves would
  // still find its own value there and take away what the page that replaced it has registered
  readonly #held: { readonly value: T }[] = [];
  #newest = $state.raw<T | undefined>();

  get newest(): T | undefined {
    return this.#newest;
  }

  /** Call while a component initializes. `of` may be reactive; undefined registers nothing. */
  hold(of: () => T | undefined): void {
    $effect.pre(() => {
      const value = of();
      if (value === undefined) return;
      const mine = { value };
      this.#held.push(mine);
      this.#newest = value;
      return () => {
        this.#held.splice(this.#held.indexOf(mine), 1);
        this.#newest = this.#held.at(-1)?.value;
      };
    });
  }
}
