/** The limit of requests with one token. A module with settings of the site provides it. */
export abstract class TokenRateLimit {
  /** Returns the requests per second that a token may send, without a lookup; null for any number. */
  abstract getPerSecond(): number | null;
}
