declare const realPathBrand: unique symbol;
declare const fileUriBrand: unique symbol;

/** A canonical absolute path: links resolved by the kernel. Only disk/resolve.ts makes one. */
export type RealPath = string & { readonly [realPathBrand]: true };

/** A `file://` URI as we send it. Only toFileUri() makes one. */
export type FileUri = string & { readonly [fileUriBrand]: true };

/** The longest path the kernel takes (PATH_MAX without its NUL). */
export const MAX_PATH_BYTES = 4095;

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Why a text cannot be a path at all, or null. Checked before any system call: nothing is trimmed, decoded or folded. */
export function checkPathText(text: string): string | null {
  if (text === '') return 'is empty';
  if (!text.startsWith('/')) return 'is relative, must be absolute';
  if (text.includes('\0')) return 'holds a NUL character';
  if (/\p{Cs}/u.test(text)) return 'holds a lone surrogate, which no file name can';
  if (text.length > MAX_PATH_BYTES || byteLength(text) > MAX_PATH_BYTES)
    return `is longer than ${MAX_PATH_BYTES} bytes`;
  return null;
}
