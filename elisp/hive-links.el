;;; hive-links.el --- Addresses in text from agents  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; An address in text from an agent is a button.  It opens exactly the address
;; that its help and the confirmation show: http, https or the address of a
;; mailbox, in plain ASCII, without a user name.  If the text looks like a host
;; other than the one that would be visited, the real host is shown after it.
;;
;; The text is untrusted: nothing is fetched or run before the human says so,
;; no other scheme becomes a button, and all work is bounded.

;;; Code:

(require 'button)
(require 'hive-messages)
(require 'hive-text)
(require 'puny)
(require 'subr-x)

(defconst hive-links--most 200 "How many addresses of a text become buttons.")

(defconst hive-links--longest 1000 "The longest address that becomes a button, in characters.")

(defconst hive-links--most-odd 20
  "How many addresses of a text may have characters outside of ASCII.
Encoding one takes Emacs up to half a millisecond.")

;;;; The meaning of an address

(defconst hive-links--spelled "<U\\+\\([0-9A-F]\\{4,6\\}\\)>"
  "A character that `hive-text-inert' has spelled out.")

(defun hive-links--unspelled (text)
  "Return TEXT with the characters that `hive-text-inert' spelled out."
  (replace-regexp-in-string hive-links--spelled
                            (lambda (match)
                              (let ((code (string-to-number (substring match 3 -1) 16)))
                                (if (<= code #x10FFFF) (string code) match)))
                            text t t))

(defun hive-links--host (host)
  "Return HOST in ASCII, as in a request for its address, or nil if it is none."
  (let ((host (and (<= 1 (length host) 253)
                   (string-match-p "\\`[[:alnum:]._-]+\\'" host)
                   (not (string-match-p "[^.]\\{64\\}" host))
                   (ignore-errors (puny-encode-domain (downcase host))))))
    (and host
         (string-match-p "\\`[a-z0-9_]\\(?:[a-z0-9._-]*[a-z0-9_]\\)?\\.?\\'" host)
         host)))

(defconst hive-links--bytes
  (let ((bytes (make-vector 256 nil)))
    (dotimes (byte 256)
      (aset bytes byte (if (or (<= ?a byte ?z) (<= ?A byte ?Z) (<= ?0 byte ?9)
                               (memq byte (append "-._~:/?#@!&()*+,;=%" nil)))
                           (string byte)
                         (format "%%%02X" byte))))
    bytes)
  "Each byte as it is in an address.
What could mean something to a shell, to Emacs or to a mailer is encoded.
With `url-hexify-string', addresses in 64 KB of hostile text take 80 ms
instead of 5.")

(defconst hive-links--plain "\\`[-a-zA-Z0-9._~:/?#@!&()*+,;=%]*\\'"
  "An address that can be used as it is.")

(defun hive-links--encoded (text)
  "Return TEXT, the rest of an address after its host, in plain ASCII."
  (if (string-match-p hive-links--plain text) text
    (mapconcat (lambda (byte) (aref hive-links--bytes byte)) (encode-coding-string text 'utf-8) "")))

(defun hive-links-target (text)
  "Return what the address TEXT leads to, a cons of address and host, or nil.
Only http, https and mailto lead anywhere.  A user name is left out, and
so is what a mailto address has after the mailbox."
  (let ((text (hive-links--unspelled text)) (case-fold-search t))
    (cond
     ((string-match "\\`\\(https?\\)://\\([^/?#]+\\)" text)
      (let* ((scheme (downcase (match-string 1 text)))
             (rest (substring text (match-end 0)))
             (place (car (last (split-string (match-string 2 text) "@"))))
             (port (if (string-match ":[0-9]\\{0,5\\}\\'" place) (match-string 0 place) ""))
             (host (hive-links--host (substring place 0 (- (length place) (length port))))))
        (and host (cons (concat scheme "://" host port (hive-links--encoded rest)) host))))
     ((string-match "\\`mailto:\\([a-z0-9.!#$&*+/=_~-]+\\)@\\([^?@/#]+\\)" text)
      (let ((name (match-string 1 text)) (host (hive-links--host (match-string 2 text))))
        (and host (cons (concat "mailto:" name "@" host) host)))))))

(defun hive-links--named-host (text)
  "Return the host that TEXT, the words of a link, seems to name, or nil."
  (let ((text (hive-links--unspelled text)))
    (and (string-match "\\(?:[[:alnum:]_-]+\\.\\)+[[:alpha:]][[:alnum:]-]+" text)
         (hive-links--host (match-string 0 text)))))

(defun hive-links--differs-p (words host)
  "Return non-nil if WORDS, of a link, may name a host other than HOST."
  (or (> (length words) 200)
      (and-let* ((named (hive-links--named-host words)))
        (not (equal (string-remove-prefix "www." named) (string-remove-prefix "www." host))))))

(defun hive-links--plain-p (text host)
  "Return non-nil if HOST is what the address TEXT has as its host."
  (string-match-p (concat "\\`\\(?:https?://\\|mailto:[^@]+@\\)" (regexp-quote host) "\\(?:[:/?#]\\|\\'\\)")
                  (downcase text)))

;;;; Opening

(defun hive-links-open (address host)
  "Open ADDRESS, which leads to HOST, once the human has confirmed it."
  (when (y-or-n-p (if (string-prefix-p "mailto:" address)
                      (hive-words "Write to %s? " (string-remove-prefix "mailto:" address))
                    (hive-words "Visit %s?  %s " host (hive-text-line address 400))))
    (browse-url address)))

(define-button-type 'hive-links
  'follow-link t
  'action (lambda (button)
            (hive-links-open (button-get button 'hive-address) (button-get button 'hive-host))))

;;;; Finding

(defconst hive-links--begin
  "\\[\\([^][\n]*\\)\\](<?\\(\\(?:https?://\\|mailto:\\)\\)\\|https?://\\|mailto:"
  "The beginning of an address; the first group has the words of a link.")

(defun hive-links--end (begin)
  "Go to the end of the address that is at BEGIN.
Marks that end a sentence, and a parenthesis that it does not open, are
not part of it."
  (let ((limit (min (point-max) (+ begin hive-links--longest 1))) (more t) (balance nil))
    (while more
      (skip-chars-forward "-[:alnum:]._~:/?#@!$&'()*+,;=%" limit)
      (setq more (and (< (point) limit) (looking-at hive-links--spelled)))
      (when more (goto-char (match-end 0))))
    (while (pcase (preceding-char)
             (?\) (unless balance (setq balance (hive-links--balance begin)))
                  (and (< balance 0) (setq balance (1+ balance))))
             ((or ?. ?, ?\; ?: ?! ?? ?' ?* ?_ ?~) t))
      (forward-char -1))))

(defun hive-links--balance (begin)
  "Return how many parentheses are open between BEGIN and point.
Only the first 100 count."
  (let ((end (point)) (balance 0) (seen 0))
    (save-excursion
      (goto-char begin)
      (while (and (< seen 100) (progn (skip-chars-forward "^()" end) (< (point) end)))
        (setq seen (1+ seen)
              balance (+ balance (if (eq (following-char) ?\() 1 -1)))
        (forward-char 1)))
    balance))

(defun hive-links--insert (begin end address host shown)
  "Make the text from BEGIN to END a button for ADDRESS, which leads to HOST.
If SHOWN, a text there, looks like another host, show HOST after it."
  (let ((face (get-text-property begin 'face)))
    (make-text-button begin end 'type 'hive-links 'hive-address address 'hive-host host
                      'help-echo (hive-words "Visit %s" address))
    (when face (add-face-text-property begin end 'button))
    (when shown
      (hive-text-overlay (1- end) end
                         'hive-links t
                         'after-string (propertize (hive-words " → %s" host) 'face 'hive-warning)))))

(defun hive-links-activate (beg end)
  "Make the addresses between BEG and END buttons.
The text must be inert.  Diffs and other buttons stay as they are."
  (remove-overlays beg end 'hive-links t)
  (save-excursion
    (save-restriction
      (narrow-to-region beg end)
      (goto-char beg)
      (let ((left hive-links--most) (odd hive-links--most-odd) (case-fold-search t))
        (while (and (> left 0) (re-search-forward hive-links--begin nil t))
          (let* ((begin (match-beginning 0))
                 (words (and (match-beginning 1) (match-string-no-properties 1)))
                 (from (or (match-beginning 2) begin))
                 (used (or (get-text-property begin 'hive-diff) (get-text-property begin 'button)))
                 text target)
            (setq left (1- left))
            (unless used
              (hive-links--end from)
              (setq text (buffer-substring-no-properties from (point)))
              (unless (string-match-p hive-links--plain text) (setq odd (1- odd)))
              (setq target (and (>= odd 0) (<= (length text) hive-links--longest)
                                (hive-links-target text)))
              (if (null target)
                  ;; The words of a link may have an address of their own.
                  (when words (goto-char (1+ begin)))
                (when (and words (eq (following-char) ?\))) (forward-char))
                (hive-links--insert begin (point) (car target) (cdr target)
                                    (or (not (hive-links--plain-p text (cdr target)))
                                        (and words (hive-links--differs-p words (cdr target)))))))))))))

(provide 'hive-links)
;;; hive-links.el ends here
