import { Injectable } from '@nestjs/common';

/** Whether load balancers may send requests to this process. */
@Injectable()
export class Readiness {
  private stopping = false;

  get isStopping(): boolean {
    return this.stopping;
  }

  /** Makes /readyz respond 503. Requests are still served. */
  startStopping(): void {
    this.stopping = true;
  }
}
