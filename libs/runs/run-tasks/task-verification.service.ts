import { Clock, tooManyRequests, unprocessable } from '#platform/kernel';
import { createTestRequest } from './task-request.js';
import { describeRefusedRequest, type TaskSender } from './task.sender.js';

/** Tests of one organization that wait for their services at the same time, in one process. */
const MAX_WAITING = 4;

const RETRY_AFTER_SECONDS = 5;

/** Tests the service of a run task while a request of the API waits. A slow service occupies only a few requests. */
export class TaskVerification {
  private readonly waiting = new Map<string, number>();

  constructor(
    private readonly sender: TaskSender,
    private readonly clock: Clock,
    private readonly publicUrl: string,
  ) {}

  /** Throws 422 unless the service answers the test with 200, and 429 if too many tests of the organization wait. */
  async verify(organization: string, service: { readonly url: string; readonly key: string | null }): Promise<void> {
    const others = this.waiting.get(organization) ?? 0;
    if (others >= MAX_WAITING) {
      throw tooManyRequests(
        `${MAX_WAITING} tests of run tasks of this organization wait for their services. Try again later`,
        RETRY_AFTER_SECONDS,
      );
    }
    this.waiting.set(organization, others + 1);
    try {
      const request = createTestRequest(organization, this.clock.now().toISOString(), this.publicUrl);
      const problem = describeRefusedRequest(await this.sender.send(service, request));
      if (problem !== null) throw unprocessable(`Url could not be verified: ${problem}`, 'url');
    } finally {
      const left = (this.waiting.get(organization) ?? 1) - 1;
      if (left > 0) this.waiting.set(organization, left);
      else this.waiting.delete(organization);
    }
  }
}
