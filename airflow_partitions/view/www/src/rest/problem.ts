import type { components } from "./schema";

type Document = components["schemas"]["Problem"];

/** An answer that is none: the server refused, or can't be reached. */
export class Problem extends Error {
  /** Of HTTP; 0 if there was no answer. */
  readonly status: number;
  /** What the server says of it, as far as it is one of its documents. */
  readonly document: Partial<Document>;

  constructor(status: number, document: Partial<Document>) {
    super(document.detail ?? document.title ?? (status === 0 ? "The server does not answer." : `HTTP ${status}`));
    this.name = "Problem";
    this.status = status;
    this.document = document;
  }

  /** Whether to ask again may help: the server is away, or has too much to do. */
  get passing(): boolean {
    return this.status === 0 || this.status >= 500 || this.status === 429;
  }
}
