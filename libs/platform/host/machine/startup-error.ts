/**
 * Thrown if the operator must change something before the process can start. The message is one line with the change.
 */
export class StartupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartRefused';
  }
}
