/** The reason why no time stamp was accepted: the wrong member of the answer, or `refused` if the authority stamps nothing. */
type TimeStampFailure =
  'answer' | 'certificate' | 'imprint' | 'nonce' | 'policy' | 'refused' | 'signature' | 'time' | 'unreachable';

/** The message contains no text of the authority, but can contain a status and an object identifier from its answer. */
export class TimeStampError extends Error {
  constructor(
    readonly failure: TimeStampFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
