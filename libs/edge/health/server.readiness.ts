import { Injectable } from '@nestjs/common';

/** Whether load balancers may send requests to this process. */
@Injectable()
export class Readiness {
  private stopping = false;
  private waiting = false;

  get isStopping(): boolean {
    return this.stopping;
  }

  /** Whether the other processes that serve the same address have not started yet. */
  get isWaiting(): boolean {
    return this.waiting;
  }

  /** Makes /readyz respond 503 until `endWaiting`. Requests are served. */
  startWaiting(): void {
    this.waiting = true;
  }

  endWaiting(): void {
    this.waiting = false;
  }

  /** Makes /readyz respond 503. Requests are still served. */
  startStopping(): void {
    this.stopping = true;
  }
}
