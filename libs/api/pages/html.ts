import { html as renderTemplate, raw } from 'hono/html';

declare const escaped: unique symbol;

/** HTML in which every inserted text is escaped. Only `html` and `trustHtml` create it. */
export type Html = { readonly [escaped]: true; toString(): string };

export type HtmlValue = Html | string | number | false | null | undefined | readonly HtmlValue[];

/** Returns the template with its values escaped. `null`, `undefined` and `false` add nothing; lists add each item. */
export const html = (strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  // A template without promises returns no promise.
  renderTemplate(strings, ...values) as unknown as Html;

/** Returns the text as HTML without escaping it. Only for text that no caller can choose, such as a drawn QR code. */
export const trustHtml = (text: string): Html => raw(text) as unknown as Html;
