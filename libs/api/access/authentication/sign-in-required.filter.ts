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

/** Thrown for a page that needs a second factor, for a session without one. */
export class SecondFactorRequired extends Error {
  constructor() {
    super('the page needs a second factor');
  }
}

/** Sends people without a session, or without a recent sign-in, to the sign-in page, and people without a second factor to their account. */
@Catch(SignInRequired, SecondFactorRequired)
export class SignInRequiredFilter implements ExceptionFilter<SignInRequired | SecondFactorRequired> {
  catch(error: SignInRequired | SecondFactorRequired, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    void reply.redirect(toPath(error), SEE_OTHER);
  }
}

const toPath = (error: SignInRequired | SecondFactorRequired): string => {
  if (error instanceof SecondFactorRequired) return '/account';
  const { returnTo, confirms } = error;
  return `/sign-in?${confirms ? 'confirm=1&' : ''}return_to=${encodeURIComponent(returnTo)}`;
};
