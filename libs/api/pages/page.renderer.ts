import { formatContentPolicy, type PageSources } from './content-policy.js';
import { html, type Html } from './html.js';

export type PageContent = PageSources & {
  readonly title: string;
  readonly body: Html;
  /** Name of the signed-in person. The page then leads to the account, and lets the person sign out. */
  readonly username?: string | null;
  /** Whether the page has more than a form, and needs more width. */
  readonly isWide?: boolean;
};

/** A page and the policy with which it must be sent (`sendPage`). */
export type HtmlPage = { readonly html: string; readonly contentPolicy: string };

const STYLESHEET_PATH = '/pages/style.css';
const ICON_PATH = '/pages/icon.svg';

/** Returns a page with the layout of all pages. */
export const renderPage = ({ title, body, username, isWide = false, ...sources }: PageContent): HtmlPage => ({
  html: `<!doctype html>\n${html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <title>${title} &middot; Cadastre</title>
      <link rel="icon" href="${ICON_PATH}" type="image/svg+xml" />
      <link rel="stylesheet" href="${STYLESHEET_PATH}" />
      ${(sources.scripts ?? []).map((path) => html`<script src="${path}" defer></script>`)}
    </head>
    <body>
      <a class="skip-link" href="#content">Skip to content</a>
      ${renderHeader(username)}
      <main id="content" class="${isWide ? 'wide' : 'narrow'}">
        <h1>${title}</h1>
        ${body}
      </main>
    </body>
  </html>`.toString()}\n`,
  contentPolicy: formatContentPolicy(sources),
});

const renderHeader = (username: string | null | undefined): Html =>
  html` <header class="site-header">
    <span class="brand"><img src="${ICON_PATH}" alt="" width="28" height="28" />Cadastre</span>
    ${
      username !== null &&
      username !== undefined &&
      html`<nav aria-label="Account">
        <a href="/app">Console</a>
        <a href="/account">${username}</a>
        <form method="post" action="/sign-out"><button class="link">Sign out</button></form>
      </nav>`
    }
  </header>`;

export type PageMessage = {
  readonly title: string;
  /** One paragraph for each text. */
  readonly messages: readonly string[];
  readonly link?: { readonly path: string; readonly text: string };
  readonly username?: string | null;
};

/** Returns a page that informs a person, and leads to at most one other page. */
export const renderMessagePage = ({ title, messages, link, username = null }: PageMessage): HtmlPage =>
  renderPage({
    title,
    username,
    body: html`
      ${messages.map((message) => html`<p>${message}</p>`)}
      ${link && html`<p><a class="button" href="${link.path}">${link.text}</a></p>`}
    `,
  });
