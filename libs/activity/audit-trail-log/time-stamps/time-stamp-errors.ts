/** Why no time stamp was accepted: what the answer has wrong, or `refused` if the authority stamps nothing. */
type TimeStampFailure =
  'answer' | 'certificate' | 'imprint' | 'nonce' | 'policy' | 'refused' | 'signature' | 'time' | 'unreachable';

/** The message contains nothing that the authority has sent. */
export class TimeStampError extends Error {
  constructor(
    readonly failure: TimeStampFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
