/**
 * Removes secrets from a log line. Redaction by key does not reach the inside of texts: drivers put connection strings
 * into messages, and people put tokens into URLs. So the finished line is searched for the few forms of secrets.
 */
export const redactSecrets = (line: string): string =>
  line
    .replaceAll(/(\w:\/\/[^:/?#\s"@]*):[^\s"/]+@/g, '$1:[redacted]@')
    .replaceAll(/\bBearer\s+[\w.~+/=-]+/gi, 'Bearer [redacted]')
    .replaceAll(/[A-Za-z0-9]+\.atlasv1\.[A-Za-z0-9_-]+/g, '[redacted]');
