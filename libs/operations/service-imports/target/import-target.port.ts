import type { ImportOrigin } from '#platform/kernel';

export type TargetRequest = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** What the request imports. */
  readonly origin?: ImportOrigin;
};

export type TargetResponse = { readonly status: number; readonly document: unknown; readonly md5: string };

/** Sends a request to this site as an owner of the organization that gets the resources. */
export type TargetFetch = (request: TargetRequest) => Promise<TargetResponse>;
