import { ApiError, ConnectionError } from './api-error.js';

/** Returns why an upload was refused, as `ApiError` describes it. */
const toUploadError = (request: XMLHttpRequest): ApiError => {
  const details = ((): readonly string[] => {
    try {
      const { errors = [] } = JSON.parse(request.responseText) as { errors?: readonly { detail?: string }[] };
      return errors.flatMap(({ detail }) => detail ?? []);
    } catch {
      return [];
    }
  })();
  return new ApiError(
    request.status,
    details.map((detail) => ({ detail, field: null, pointer: null })),
    null,
  );
};

type SendFileOptions = { readonly signal?: AbortSignal; readonly onSent?: (bytes: number) => void };

/** Sends a file to a signed link of this server. XMLHttpRequest reports the progress, fetch cannot. */
export const sendFile = (link: string, file: File, { signal, onSent }: SendFileOptions = {}): Promise<void> =>
  new Promise((resolve, reject) => {
    const { pathname, search } = new URL(link);
    const request = new XMLHttpRequest();
    request.open('PUT', pathname + search);
    request.upload.addEventListener('progress', ({ loaded }) => onSent?.(loaded));
    request.addEventListener('load', () => (request.status < 300 ? resolve() : reject(toUploadError(request))));
    request.addEventListener('error', () => reject(new ConnectionError('The connection was interrupted.')));
    request.addEventListener('abort', () => reject(new DOMException('The upload was stopped.', 'AbortError')));
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
