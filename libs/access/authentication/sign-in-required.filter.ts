import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

const SEE_OTHER = 303;

/** Thrown for a page that needs a session. `returnTo`: the path that the browser opens after the sign-in. */
export class SignInRequired extends Error {
  constructor(readonly returnTo: string) {
    super('the page needs a session');
  }
}

/** Sends people without a session to the sign-in page. */
@Catch(SignInRequired)
export class SignInRequiredFilter implements ExceptionFilter<SignInRequired> {
  catch({ returnTo }: SignInRequired, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    void reply.redirect(`/sign-in?return_to=${encodeURIComponent(returnTo)}`, SEE_OTHER);
  }
}
