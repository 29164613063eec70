import type { FastifyReply } from 'fastify';
import type { HtmlPage } from './page.renderer.js';

/** Sets status and headers of a response with a page. Returns its HTML, which the handler returns. */
export const sendPage = (reply: FastifyReply, status: number, { html, contentPolicy }: HtmlPage): string => {
  void reply.status(status).headers({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentPolicy,
    'cross-origin-opener-policy': 'same-origin',
    // With `no-referrer`, the default of other responses, browsers send `Origin: null` with the forms of the page.
    'referrer-policy': 'same-origin',
  });
  return html;
};

/** Redirects to another page of this server. The browser requests it with GET. */
export const redirectToPage = (reply: FastifyReply, path: string): void => {
  void reply.status(303).header('location', path).removeHeader('content-type');
};
