import { describe, expect, it } from '@jest/globals';
import { renderField, renderNotice } from './forms.renderer.js';
import { html } from './html.js';
import { renderMessagePage, renderPage } from './page.renderer.js';

const ATTACK = `"'><script src="//attacker.example"></script>&`;
const ESCAPED = '&quot;&#39;&gt;&lt;script src=&quot;//attacker.example&quot;&gt;&lt;/script&gt;&amp;';

describe('html', () => {
  it('escapes values once, also in lists and in templates within a template', () => {
    const inner = html`<b>${ATTACK}</b>`;
    expect(html`<p title="${ATTACK}">${[inner, ATTACK]}</p>`.toString()).toBe(
      `<p title="${ESCAPED}"><b>${ESCAPED}</b>${ESCAPED}</p>`,
    );
  });

  it('adds nothing for values that are absent', () => {
    expect(html`<p>${null}${undefined}${false}${[]}${0}</p>`.toString()).toBe('<p>0</p>');
  });
});

describe('renderPage', () => {
  it('escapes the title and the name of the person', () => {
    const page = renderPage({ title: ATTACK, username: ATTACK, body: html`` });
    expect(page.html).not.toContain('<script');
    expect(page.html.split(ESCAPED)).toHaveLength(4);
  });

  it('allows no scripts on a page without scripts', () => {
    expect(renderPage({ title: 'Sign in', body: html`` }).contentPolicy).toBe(
      "default-src 'none';style-src 'self';img-src 'self' data:;form-action 'self';base-uri 'none';frame-ancestors 'none'",
    );
  });

  it('allows scripts of this server and the targets of forms, which it names', () => {
    const formTargets = ['https://id.example.com', 'http://localhost:*', 'http://[::1]:80'];
    const page = renderPage({ title: 'Sign in', body: html``, scripts: ['/pages/a.js'], formTargets });
    expect(page.html).toContain('<script src="/pages/a.js" defer></script>');
    expect(page.contentPolicy).toContain(
      "script-src 'self';connect-src 'self';form-action 'self' https://id.example.com",
    );
  });

  it.each(['*', 'https:', "'unsafe-inline'", 'https://a.example;script-src *', 'https://a.example/path', 'x://a'])(
    'throws if a form target is not an origin: %s',
    (target) => {
      expect(() => renderPage({ title: 'Sign in', body: html``, formTargets: [target] })).toThrow('not an origin');
    },
  );

  it('shows who is signed in only if the page has a person', () => {
    expect(renderPage({ title: 'Hello', body: html`` }).html).not.toContain('/sign-out');
    expect(renderPage({ title: 'Hello', body: html``, username: 'ada' }).html).toContain('action="/sign-out"');
  });
});

describe('renderMessagePage', () => {
  it('escapes its messages', () => {
    const link = { path: ATTACK, text: ATTACK };
    const page = renderMessagePage({ title: 'Sorry', messages: [ATTACK], link });
    expect(page.html.split(ESCAPED)).toHaveLength(4);
  });
});

describe('the parts of forms', () => {
  it('escape values of callers', () => {
    const field = renderField({ name: 'username', label: 'User name', value: ATTACK, hint: ATTACK });
    expect(field.toString().split(ESCAPED)).toHaveLength(3);
    expect(renderNotice('error', ATTACK).toString()).toContain(ESCAPED);
  });
});
