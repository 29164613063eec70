import { Injectable } from '@nestjs/common';

/** Whether load balancers may send requests to this process. */
@Injectable()
export class Readiness {
  private stopping = false;

  get isStopping(): boolean {
    return this.stopping;
  }

  /** From now on /readyz answers 503; requests are still served. */
  startStopping(): void {
    this.stopping = true;
  }
}
