;;; hive-shared-format.el --- Messages as text  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A message in a shared buffer is a block:
;;
;;     ## 2026-01-11 18:00:00 Claude-abc12
;;
;;     @Claude-def34 The login is done.  Could you review it?
;;
;; This is the same format that the command "hive messages --format shared"
;; writes.  What is rendered and parsed again is what it was.

;;; Code:

(require 'cl-lib)
(require 'hive-text)
(require 'subr-x)

(defconst hive-format--space
  " \t\n\r\f\v\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF"
  "The blanks of a character alternative: those of the sidecar's own parser.")

(defconst hive-format-heading
  (concat "\\`## \\([0-9]\\{4\\}-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]\\) "
          "\\([^" hive-format--space "]+\\)\\([^\n\r]*\\)\\'")
  "A line that begins a block: its time, its handle, and what stands behind.")

(defconst hive-format--like-heading
  (concat "\\`\\\\*## [0-9]\\{4\\}-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9] "
          "[^" hive-format--space "]")
  "A line of a body that would be taken for a heading.")

(defconst hive-format-shortest (length "## 2026-01-11 18:00:00 A\nb")
  "No block has fewer characters than this.")

;;;; Writing

(defun hive-format-stamp (time)
  "Return TIME of the wire as headings tell it, in the local zone."
  (format-time-string "%Y-%m-%d %H:%M:%S" (hive-text-seconds time)))

(defun hive-format-body (body)
  "Return BODY as it stands under its heading."
  (if (string-search "## " body)
      (mapconcat (lambda (line)
                   (if (string-match-p hive-format--like-heading line)
                       (concat "\\" line)
                     line))
                 (split-string body "\n") "\n")
    body))

(defun hive-format-block (stamp handle body)
  "Return the block of a message: its STAMP, its author's HANDLE, its BODY."
  (concat "## " stamp " " handle "\n\n" (hive-format-body body) "\n"))

(defun hive-format-message (message)
  "Return the block of MESSAGE, a plist.
The heading names its author, whatever heading it was typed under."
  (hive-format-block (hive-format-stamp (plist-get message :at))
                     (hive-text-line (plist-get message :from_handle))
                     (plist-get message :body)))

(defconst hive-format-introduction
  "Agents and their human share this buffer. A mention notifies whom it names:
`@Claude-abc12` one session, `@reviewer` every session with that role,
`@All` every session of this project, `@Human` the human.
"
  "How to mention somebody: what stands at the top of a buffer and of its file.
It is part of no message.  The names are code, so they mention nobody.
src/domain/shared-format.ts has the same words; a test compares them.")

(defun hive-format-front (created project)
  "Return how a file begins that was CREATED then, a stamp, in PROJECT or nil."
  (concat "---\nhive: true\ntype: shared\ncreated_at: "
          (string-replace " " "T" created) "\n"
          (if project (format "project: %s\n" (hive-text-line project)) "")
          "---\n\n# Shared Buffer\n\n" hive-format-introduction "\n"))

;;;; Reading

(defun hive-format-normalize (body)
  "Return BODY as it is stored.
Line ends are one character; nothing blank stands around it."
  (let* ((body (replace-regexp-in-string "\r\n?" "\n" body t t))
         (first (or (string-match "[^ \t\n]" body) (length body)))
         (start (1+ (or (cl-position ?\n body :end first :from-end t) -1)))
         (end (length body))
         (blank (concat "[" hive-format--space "]")))
    (while (and (> end start) (string-match-p blank (substring body (1- end) end)))
      (setq end (1- end)))
    (substring body start end)))

(defun hive-format--unescape (line)
  "Return LINE of a body without the backslash that kept it from being a heading."
  (if (and (string-prefix-p "\\" line) (string-match-p hive-format--like-heading line))
      (substring line 1)
    line))

(defun hive-format-parse (text)
  "Return the blocks in TEXT, in order, each a plist.
:stamp, :handle and :body say what it is; :beg and :end, offsets
in TEXT, where: from its heading to the next one.  What stands
before the first heading is no block, nor is a heading without a
body."
  (let ((pos 0) (length (length text)) (blocks nil) (heading nil) (body nil))
    (cl-flet ((finish (end)
                (when heading
                  (let ((whole (hive-format-normalize (string-join (nreverse body) "\n"))))
                    (unless (string-empty-p whole)
                      (push (append heading (list :body whole :end end)) blocks))))))
      (while (<= pos length)
        (let* ((break (string-match "\r\n\\|[\n\r]" text pos))
               (next (if break (match-end 0) (1+ length)))
               (line (substring text pos break)))
          (if (not (string-match hive-format-heading line))
              (push (hive-format--unescape line) body)
            (let ((stamp (match-string-no-properties 1 line))
                  (handle (match-string-no-properties 2 line))
                  (more (string-trim (match-string 3 line))))
              (finish pos)
              (setq heading (list :stamp stamp :handle handle :beg pos)
                    ;; What is written behind the handle belongs to the message.
                    body (unless (string-empty-p more) (list more)))))
          (setq pos next)))
      (finish length))
    (nreverse blocks)))

(provide 'hive-shared-format)
;;; hive-shared-format.el ends here
