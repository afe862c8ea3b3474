declare const realPathBrand: unique symbol;
declare const fileUriBrand: unique symbol;

/** A canonical absolute path: links resolved by the kernel. Only disk/resolve.ts makes one. */
export type RealPath = string & { readonly [realPathBrand]: true };

/** A `file://` URI as we send it. Only toFileUri() makes one. */
export type FileUri = string & { readonly [fileUriBrand]: true };
