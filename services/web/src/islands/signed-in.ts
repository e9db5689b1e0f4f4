const key = "signed-in";

/** Whether somebody was signed in when the console was last used. A hint for texts: storage may be forbidden, and sessions end. */
export function isSignedIn(): boolean {
  try {
    return localStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}

export function noteSignedIn(value: boolean): void {
  try {
    if (value) localStorage.setItem(key, "true");
    else localStorage.removeItem(key);
  } catch {
    // The storefront then offers to sign in, which leads to the console without a sign-in.
  }
}
