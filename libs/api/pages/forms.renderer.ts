import { html, type Html } from './html.js';

export type FormField = {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'password' | 'email';
  readonly value?: string;
  /** A value of the attribute `autocomplete`, by which password managers recognize the field. */
  readonly autocomplete?: string;
  /** Shown below the field. */
  readonly hint?: string;
  readonly inputmode?: 'numeric' | 'text';
  readonly maxlength?: number;
  readonly isOptional?: boolean;
  readonly hasFocus?: boolean;
};

/** Returns a labelled field of a form. Its id is its name, so a page has each name once. */
export const renderField = ({ name, label, type = 'text', hint, ...field }: FormField): Html =>
  html` <div class="field">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${field.value ?? ''}"
      spellcheck="false"
      autocapitalize="none"
      maxlength="${field.maxlength ?? 1_000}"
      autocomplete="${field.autocomplete ?? 'off'}"
      ${field.inputmode && html`inputmode="${field.inputmode}"`}
      ${hint && html`aria-describedby="${name}-hint"`}
      ${!field.isOptional && html`required`}
      ${field.hasFocus && html`autofocus`}
    />
    ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
  </div>`;

/** Returns a field that people do not see; nothing if there is no value. */
export const renderHiddenField = (name: string, value: string | null): Html =>
  value === null ? html`` : html`<input type="hidden" name="${name}" value="${value}" />`;

/** Returns a message above a form. Screen readers read errors at once. */
export const renderNotice = (kind: 'error' | 'success' | 'info', text: string | null): Html =>
  text === null ? html`` : html`<p class="notice ${kind}" role="${kind === 'error' ? 'alert' : 'status'}">${text}</p>`;
