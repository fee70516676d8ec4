;;; hive-seat.el --- The key that signs what you allow  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A permission that you allow is signed with the key of your seat.  Emacs
;; gives the key to its sidecar when it connects; without it, nothing that is
;; answered here allows anything.  Emacs makes the key when there is none, and
;; the sidecar registers its public part in your file trust.json.

;;; Code:

(require 'hive-messages)
(require 'hive-rpc)
(require 'hive-text)

;;;; Files of keys

(defun hive-seat-stored-key (file)
  "Return the key in FILE, 64 hexadecimal digits, or nil.
A key that others could have read or written does not count."
  (let ((attributes (file-attributes file)))
    (and attributes
         (null (file-attribute-type attributes))
         (= (user-uid) (file-attribute-user-id attributes))
         (zerop (logand #o077 (file-modes file)))
         (let ((key (with-temp-buffer
                      (set-buffer-multibyte nil)
                      (insert-file-contents-literally file)
                      (buffer-string))))
           (and (string-match-p "\\`[0-9a-f]\\{64\\}\\'" key) key)))))

(defun hive-seat--random-key ()
  "Return a new key, 64 hexadecimal digits."
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (unless (and (file-exists-p "/dev/urandom")
                 (eq 0 (ignore-errors (call-process "head" "/dev/urandom" t nil "-c" "32")))
                 (= 32 (buffer-size)))
      ;; `random' takes its seed from the system.
      (random t)
      (dotimes (_ 8) (insert (number-to-string (random most-positive-fixnum)))))
    (secure-hash 'sha256 (current-buffer))))

(defun hive-seat-key-in (file)
  "Return the key in FILE; create it if there is none.
Return nil if it cannot be kept there."
  (or (hive-seat-stored-key file)
      (progn
        (with-file-modes #o700
          (make-directory (file-name-directory (expand-file-name file)) t))
        ;; A file that cannot be trusted as a key is in the way of a new one.
        (when (file-exists-p file)
          (rename-file file (concat file ".refused") t))
        (with-file-modes #o600
          ;; Of two Emacsen that start at once, one creates it, and both use it.
          (ignore-errors
            (let ((coding-system-for-write 'no-conversion)
                  (write-region-inhibit-fsync nil))
              (write-region (hive-seat--random-key) nil file nil 'quiet nil 'excl))))
        (hive-seat-stored-key file))))

;;;; The key of the seat

(defun hive-seat--directory ()
  "Return the directory of your file trust.json."
  (let ((xdg (getenv "XDG_CONFIG_HOME")))
    (pcase system-type
      ('darwin (expand-file-name "~/Library/Application Support/hive/"))
      (_ (expand-file-name "hive/" (if (and xdg (string-prefix-p "/" xdg)) xdg "~/.config/"))))))

(defcustom hive-seat-key-function #'hive-seat-key-from-file
  "Function that returns the secret key of this seat, or nil for none.
The key is 64 hexadecimal digits.  The default keeps it in the file
seat.key next to your file trust.json, which `hive respond' reads,
too.  A function of your own can get it from elsewhere, for example
with `auth-source-pick-first-password'."
  :type 'function
  :group 'hive)

(defun hive-seat-key-from-file ()
  "Return the secret key of this seat from its file."
  (hive-seat-key-in (expand-file-name "seat.key" (hive-seat--directory))))

(defun hive-seat--greeting ()
  "Return the part of the handshake that gives the sidecar its key."
  (let ((key (hive-rpc-guarded hive-seat-key-function)))
    (and key (list :seat_key key))))

(add-hook 'hive-rpc-greeting-functions #'hive-seat--greeting)

;;;; Registering it

(defun hive-seat--state (state)
  "Show what the human should know of STATE, which the sidecar returned."
  (when-let* ((text (plist-get state :text)))
    (hive-announce 'from-sidecar (hive-text-line text 300))))

(defun hive-seat--connected ()
  "Show the state of the key of this seat."
  (hive-seat--state (plist-get hive-sidecar-info :seat)))

(add-hook 'hive-connected-hook #'hive-seat--connected)

;;;###autoload
(defun hive-register-seat (name key)
  "Register KEY as a seat called NAME, so that what is allowed there counts.
Hive registers the first key of a store by itself.  A further one,
such as that of another Emacs, is registered with this command in
an Emacs whose own key is registered.  `hive-doctor' shows the key
of an Emacs that is not."
  (interactive (list (read-string (hive-words "Name of the seat (user@machine): "))
                     (string-trim (read-string (hive-words "Its public key: ")))))
  (when (yes-or-no-p (hive-words "Let the seat %s (key %s) grant permissions to agents? " name key))
    (hive-rpc-request 'seat/register (list :name name :key key)
                      :success #'hive-seat--state
                      :error (hive-announcing 'from-sidecar))))

(provide 'hive-seat)
;;; hive-seat.el ends here
