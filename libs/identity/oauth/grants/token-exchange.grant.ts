import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { TOKEN_EXCHANGE, TokenExchange } from '#identity/workload-identities';
import { TokenGrant, type TokenAnswer, type TokenRequest } from './token.grant.js';

const anyForm = z.looseObject({});

/** Exchanges the token of a pipeline for a token of a team (RFC 8693). */
@Injectable()
export class TokenExchangeGrant extends TokenGrant<z.infer<typeof anyForm>> {
  readonly grantType = TOKEN_EXCHANGE;
  /** The exchange checks its parameters itself, because it counts wrong ones as failures of the address. */
  readonly form = anyForm;

  constructor(private readonly exchange: TokenExchange) {
    super();
  }

  issue(form: z.infer<typeof anyForm>, request: TokenRequest): Promise<TokenAnswer> {
    return this.exchange.exchange(form, request);
  }
}
