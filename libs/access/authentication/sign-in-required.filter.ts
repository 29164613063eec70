import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

const SEE_OTHER = 303;

/**
 * Thrown for a page that needs a session. `returnTo`: the path that the browser opens after the sign-in. `confirms`:
 * whether a person with a session must sign in again.
 */
export class SignInRequired extends Error {
  constructor(
    readonly returnTo: string,
    readonly confirms = false,
  ) {
    super('the page needs a session');
  }
}

/** Sends people without a session, or without a recent sign-in, to the sign-in page. */
@Catch(SignInRequired)
export class SignInRequiredFilter implements ExceptionFilter<SignInRequired> {
  catch({ returnTo, confirms }: SignInRequired, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    void reply.redirect(`/sign-in?${confirms ? 'confirm=1&' : ''}return_to=${encodeURIComponent(returnTo)}`, SEE_OTHER);
  }
}
