// Types that Kit knows by name: what an error page is given.
declare global {
  namespace App {
    interface Error {
      /** One sentence for a person. */
      message: string;
      /** `type` of the problem details, when the API gave one. */
      kind?: string;
      /** Id to quote when reporting. */
      requestId?: string;
    }
  }
}

export {};
