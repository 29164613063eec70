/** The answer of a server. */
export type Answer = {
  readonly status: number;
  /** The header `Retry-After`. */
  readonly retryAfter: string | null;
  readonly bytes: Buffer;
};

/** What Node throws where the network fails. */
export type Fault = { readonly message: string; readonly code?: string; readonly path?: string | null };
