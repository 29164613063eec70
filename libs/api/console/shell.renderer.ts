import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HtmlPage } from '#api/pages';

/** The text in the page of the build that each response replaces. */
const PLACEHOLDER = 'STYLE_NONCE';
const NONCE_BYTES = 16;

/**
 * Returns the Content-Security-Policy of the console. Only scripts of this server run, and they send requests to this
 * server only. The nonce allows the style elements that the component library inserts (ADR 60).
 */
const formatConsolePolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join(';');

/** Renders the page that loads the scripts of the console. */
export class ShellRenderer {
  private template: Promise<string> | null = null;

  /** `folder`: of the build, with its `index.html`. */
  constructor(private readonly folder: string) {}

  /** Returns the page with a nonce of its own. */
  async render(): Promise<HtmlPage> {
    this.template ??= readFile(join(this.folder, 'index.html'), 'utf8');
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    return {
      html: (await this.template).replaceAll(PLACEHOLDER, nonce),
      contentPolicy: formatConsolePolicy(nonce),
    };
  }
}
