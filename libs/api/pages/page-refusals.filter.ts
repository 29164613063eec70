import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Refusal } from '#platform/kernel';
import { getHttpStatus, hasLongUnreadBody, setRefusalHeaders } from '#api/json-api';
import { renderMessagePage } from './page.renderer.js';
import { sendPage } from './send-page.js';

const TITLES: Readonly<Partial<Record<Refusal['kind'], string>>> = {
  forbidden: 'Not allowed',
  'not-found': 'Page not found',
  'too-many': 'Too many attempts',
  unavailable: 'Please try again soon',
};

/** Shows refusals of page routes as a page. All other errors go to the filters of every route. */
@Catch(Refusal)
export class PageRefusalFilter implements ExceptionFilter<Refusal> {
  catch(refused: Refusal, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    setRefusalHeaders(reply, refused);
    if (hasLongUnreadBody(reply.request.raw)) void reply.header('connection', 'close');
    const page = renderMessagePage({
      title: TITLES[refused.kind] ?? 'This did not work',
      messages: refused.problems.map(({ detail }) => detail),
      link: { path: '/account', text: 'Go to your account' },
    });
    void reply.send(sendPage(reply, getHttpStatus(refused), page));
  }
}
