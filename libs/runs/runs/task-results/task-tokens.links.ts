import { Refusal } from '#platform/kernel';
import type { SignedLinks } from '#storage/blob-store';
import type { LinkSigner } from '../runs/recipient.links.js';

/** No task works longer (`MOST_MS` in task-requests.job.ts), and repeated requests have tokens of their own. */
const LIFETIME_MS = 70 * 60_000;

/** The tokens with which services report. Each token is for one result, and is no token of the API. */
export class TaskTokens {
  constructor(private readonly links: SignedLinks) {}

  static with(this: void, sign: LinkSigner): TaskTokens {
    return new TaskTokens(sign('run task'));
  }

  sign(result: string): string {
    return this.links.sign(result, LIFETIME_MS);
  }

  /** Throws unauthorized unless the token is for this result, and has not expired. */
  verify(token: string | undefined, result: string): void {
    if (token !== undefined && this.findResult(token) === result) return;
    throw new Refusal('unauthorized', [
      { detail: 'Unauthorized: the access token of the request to the run task is missing, invalid or expired' },
    ]);
  }

  private findResult(token: string): string | null {
    try {
      return this.links.subjectOf(token);
    } catch (error) {
      if (error instanceof Refusal) return null;
      throw error;
    }
  }
}
