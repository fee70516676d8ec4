;;; hive-phone.el --- Phones that show the inbox  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-phone' pairs a phone or a browser with this hive: it shows a QR code
;; for the phone's camera.  When the phone has used the code, both show a
;; phrase of four words, and you say whether they are the same.  The buffer
;; shows the phrase when it arrives, and asks only when you press a key.
;; `hive-phone-list' shows the phones that are paired; there you revoke one,
;; or let one allow permissions.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-text)
(require 'tabulated-list)

(defface hive-phone-code '((t :foreground "white" :background "black"))
  "A QR code made of characters.
A camera reads it only if its blocks are lighter than the rest." :group 'hive-faces)

(defun hive-phone--name (phone)
  "Return the name of PHONE, which the phone has chosen."
  (hive-text-line (plist-get phone :name) 60))

;;;; Pairing one

(defconst hive-phone--buffer "*hive phone*" "The name of the buffer that pairs a phone.")

(defvar-local hive-phone--invited nil "The open pairing code, as the sidecar returned it.")
(defvar-local hive-phone--paired nil "The phone that has used the code, or nil.")
(defvar-local hive-phone--phrase nil "The phrase that this phone shows, or nil.")

(defconst hive-phone-keys
  '((("Pairing a phone"
      ("c" "compare the phrase" hive-phone-compare)
      ("w" "copy the address" hive-phone-copy)
      ("s" "serve the inbox" hive-phone-serve)
      ("+" "make a new code" hive-phone)
      ("g" menu-list-refresh revert-buffer))))
  "The keys of the buffer that pairs a phone, see `hive-keys-map'.")

(defvar hive-phone-mode-map
  (hive-keys-map 'hive-phone-mode hive-phone-keys)
  "Keymap of `hive-phone-mode'.")

(define-derived-mode hive-phone-mode special-mode "Hive-Phone"
  "Major mode of the buffer that pairs a phone.
\\<hive-phone-mode-map>\\[hive-phone-compare] asks whether the phone shows the same phrase, once it has used the code.
\\[hive-phone-copy] copies the address.  Where no inbox is served, \\[hive-phone-serve] serves it from this
Emacs.  \\[hive-keys] is a menu of its keys.
\\{hive-phone-mode-map}"
  :interactive nil
  (hive-text-set-up #'hive-phone--look))

(defun hive-phone--insert-code ()
  "Insert the QR code, and return non-nil, if this frame can show it.
It is a picture where the frame has pictures, else it consists of blocks.  Where
it has no blocks either, it consists of blanks, which need twice the room."
  (let ((blocks (plist-get hive-phone--invited :qr_blocks)))
    (cond ((and (display-images-p) (image-type-available-p 'svg))
           (insert-image (create-image (plist-get hive-phone--invited :qr_svg) 'svg t)
                         (hive-words "QR code"))
           (insert "\n\n")
           t)
          ((char-displayable-p ?█)
           (insert (propertize blocks 'face 'hive-phone-code) "\n\n")
           t)
          (t (hive-phone--insert-blanks (split-string blocks "\n"))))))

(defun hive-phone--insert-blanks (rows)
  "Insert the QR code with ROWS of blocks as coloured blanks, if it fits.
Return non-nil if it does."
  (let ((size (length (car rows))))
    (when (and (<= (* 2 size) (frame-width)) (<= (+ size 2) (frame-height)))
      ;; A code has an odd number of rows: below the last one there is nothing.
      (dolist (cells (seq-take (mapcan (lambda (row) (list (cons '(?█ ?▀) row) (cons '(?█ ?▄) row))) rows) size))
        (seq-doseq (block (cdr cells))
          (insert (propertize "  " 'face `(:inherit hive-phone-code
                                           :inverse-video ,(seq-contains-p (car cells) block)))))
        (insert "\n"))
      (insert "\n")
      t)))

(defun hive-phone--insert-phone ()
  "Insert the name and the phrase of the phone that has used the code."
  (let ((name (hive-phone--name hive-phone--paired)))
    (insert (pcase (plist-get hive-phone--paired :state)
              ("confirmed"
               (hive-words "Paired %s.  It can answer questions; M-x hive-phone-list lets it allow permissions, too."
                           name))
              ("revoked" (hive-words "Refused %s.  It has no access." name))
              (_ (concat
                  (hive-words "%s has used the code.  It shows four words; these are the ones:" name)
                  "\n\n    "
                  (propertize hive-phone--phrase 'face 'bold) "\n\n"
                  (substitute-command-keys
                   (hive-words "\\<hive-phone-mode-map>Look at the phone, then press \\[hive-phone-compare].  If it shows other words, somebody else has used the code.")))))
            "\n")))

(defun hive-phone--print ()
  "Print the buffer that pairs a phone."
  (let ((inhibit-read-only t))
    (erase-buffer)
    (if hive-phone--paired (hive-phone--insert-phone)
      (let ((warning (plist-get hive-phone--invited :warning)))
        (when (stringp warning)
          (insert (propertize (hive-text-inert warning) 'face 'hive-warning) "\n\n")))
      (insert (if (hive-phone--insert-code)
                  (hive-words "Point the phone's camera at the code, or type this address there:")
                (hive-words "Type this address on the phone:"))
              (hive-words "

  %s

The code is %s.  It can be used once, until %s.
This buffer shows when a phone has used it."
                          (hive-text-inert (plist-get hive-phone--invited :address))
                          (plist-get hive-phone--invited :code)
                          (hive-text-local (plist-get hive-phone--invited :expires_at) "%H:%M"))
              "\n"))
    (goto-char (point-min))))

(defun hive-phone--show (invited)
  "Go to the buffer that pairs a phone with the code of INVITED."
  ;; A camera needs all of the code, which is most of a terminal.
  (pop-to-buffer-same-window (get-buffer-create hive-phone--buffer))
  (hive-phone-mode)
  (setq hive-phone--invited invited hive-phone--paired nil hive-phone--phrase nil)
  (hive-phone--print))

(defun hive-phone--look ()
  "Ask the sidecar which phone has used the code of the buffer, if any."
  (hive-in-buffer hive-phone--buffer
    (when hive-phone--invited
      (let ((code (plist-get hive-phone--invited :code)) (buffer (current-buffer)))
        (hive-rpc-request
         'phone/paired (list :code code)
         :success (lambda (result) (hive-call-in buffer #'hive-phone--found code result))
         :error (hive-announcing 'from-sidecar))))))

(defun hive-phone--found (code result)
  "Show in this buffer the phone in RESULT, which has used CODE."
  (let ((phone (plist-get result :phone)) (is-new (null hive-phone--paired)))
    (when (and (consp phone)
               ;; Another code may be shown by now.
               (equal code (plist-get hive-phone--invited :code)))
      (setq hive-phone--paired phone
            hive-phone--phrase (hive-text-line (plist-get result :phrase) 100))
      (hive-phone--print)
      (when (and is-new (equal (plist-get phone :state) "unconfirmed"))
        (hive-announce
         "%s has used the pairing code; compare its phrase in the buffer *hive phone*"
         (hive-phone--name phone))))))

(defun hive-phone-copy ()
  "Copy the address with the code, for a browser on this machine."
  (interactive)
  (kill-new (plist-get hive-phone--invited :address))
  (hive-say "Copied the address"))

(defun hive-phone-compare ()
  "Compare the phrase of this buffer with that of the phone, and decide.
If you say that they are the same, the phone is paired.  If not, it is
refused, because somebody else has used the code."
  (interactive)
  (let ((phone hive-phone--paired) (phrase hive-phone--phrase))
    (unless phone (hive-fail "No phone has used the code yet"))
    (unless (equal (plist-get phone :state) "unconfirmed")
      (hive-fail "This phone is paired or refused already; M-x hive-phone pairs another one"))
    (hive-rpc-request
     (if (yes-or-no-p
          (hive-words "Does %s show the words \"%s\"?  Yes pairs it, no refuses it. "
                      (hive-phone--name phone) phrase))
         'phone/confirm
       'phone/revoke)
     ;; The key of this phrase: the store may have another one by now.
     (list :device_id (plist-get phone :device_id) :key (plist-get phone :key))
     :success (lambda (_result) (hive-phone--look))
     :error (hive-announcing 'from-sidecar))))

;;;###autoload
(defun hive-phone (&optional url)
  "Pair a phone with this hive: show a QR code for its camera.
The phone then answers the questions of your agents.  URL is where the
inbox is; by default where `hive-serve' or `hive serve' on this machine
serves it.  With a prefix argument, ask for it."
  (interactive (list (and current-prefix-arg (read-string (hive-words "Address of the inbox: ")))))
  (hive-phone--invite (unless (equal url "") url) 0))

(defun hive-phone--invite (url tries)
  "Ask for a pairing code of the inbox at URL, and show it.
If none is served, try as often as TRIES says, then offer to serve it."
  (hive-rpc-request
   'phone/invite (list :url url)
   :success #'hive-phone--show
   :error (lambda (err)
            (cond ((or url (not (eq 'invalid_input (plist-get err :name)))) (funcall (hive-announcing 'from-sidecar) err))
                  ((> tries 0) (hive-later 0.5 #'hive-phone--invite url (1- tries)))
                  (t (hive-phone--offer))))))

(defun hive-phone--offer ()
  "Say in the buffer that pairs a phone that no inbox is served, and what helps."
  (pop-to-buffer-same-window
   (hive-text-buffer
    hive-phone--buffer
    (lambda ()
      (insert (substitute-command-keys
               (hive-words "\\<hive-phone-mode-map>No inbox is served on this machine, so a phone has nothing to open.

  \\[hive-phone-serve]      serve it from this Emacs, and pair a phone
  C-u \\[hive-phone]  give the address of an inbox that another machine serves")) "\n"))
    #'hive-phone-mode)))

(defconst hive-phone--port 7373 "The port on which the inbox is served unless `hive-serve' gives another one.")

(defun hive-phone-serve ()
  "Serve the inbox from this Emacs, and show the code that pairs a phone.
Ask for the address at which phones reach it, and whether later Emacsen
serve it, too: that sets `hive-serve' and `hive-serve-inbox'."
  (interactive)
  (let ((address (string-trim (read-string
                               (hive-words "Address at which phones reach it (https://…; empty: only browsers on this machine): ")
                               (and (stringp hive-serve-inbox) hive-serve-inbox)))))
    (setq hive-serve (or hive-serve hive-phone--port)
          hive-serve-inbox (if (string-empty-p address) t address))
    (when (and user-init-file (y-or-n-p
                               (hive-words "Serve it from later sessions of Emacs, too? ")))
      (customize-save-variable 'hive-serve hive-serve)
      (customize-save-variable 'hive-serve-inbox hive-serve-inbox))
    (letrec ((connected (lambda ()
                          (remove-hook 'hive-connected-hook connected)
                          ;; It listens a moment later.
                          (hive-phone--invite nil 20))))
      (add-hook 'hive-connected-hook connected))
    (hive-restart)))

;;;; All phones

(defconst hive-phone--list "*hive phones*" "The name of the list's buffer.")

(defvar-local hive-phone--phones nil "The phones of the list.")

(defconst hive-phone-list-keys
  '((("Phones"
      ("a" "let it allow permissions" hive-phone-allow)
      ("k" "revoke" hive-phone-revoke)
      ("+" "pair one" hive-phone)
      ("g" menu-list-refresh revert-buffer))))
  "The keys of the list of phones, see `hive-keys-map'.")

(defvar hive-phone-list-mode-map
  (hive-keys-map 'hive-phone-list-mode hive-phone-list-keys)
  "Keymap of `hive-phone-list-mode'.")

(define-derived-mode hive-phone-list-mode tabulated-list-mode "Hive-Phones"
  "Major mode of the list of phones.
\\<hive-phone-list-mode-map>\\[hive-phone-revoke] revokes a phone, \\[hive-phone-allow] lets one allow permissions, \\[hive-phone] pairs another one.
\\[hive-keys] is a menu of its keys.
\\{hive-phone-list-mode-map}"
  :interactive nil
  (hive-text-set-up #'hive-phone--refresh t)
  ;; Nothing is sent when a phone looks.
  (hive-rpc-while-shown hive-ages-pause #'hive-phone--refresh t)
  (setq tabulated-list-format
        (vector (list (hive-words "Phone") 18 t)
                (list (hive-words "Owner") 8 t)
                (list (hive-words "State") 13 t)
                (list (hive-words "Seen") 5 nil)
                (list (hive-words "May") 16 t)
                (list (hive-words "Notifications") 13 nil)))
  (setq tabulated-list-padding 1)
  (tabulated-list-init-header))

(defun hive-phone--entry (phone)
  "Return the row of PHONE."
  ;; Not the phone itself, which changes: then point would not stay on its line.
  (list (plist-get phone :device_id)
        (vector (hive-phone--name phone)
                (hive-text-line (plist-get phone :human) 20)
                (pcase (plist-get phone :state)
                  ("unconfirmed" (propertize (hive-words "not confirmed") 'face 'hive-warning))
                  ("revoked" (propertize (hive-words "revoked") 'face 'hive-shadow))
                  (_ (hive-words "paired")))
                (hive-text-age (plist-get phone :seen_at))
                (if (hive-rpc-true-p phone :may_allow)
                    (propertize (hive-words "answer and allow") 'face 'hive-warning)
                  (hive-words "answer"))
                (pcase (plist-get phone :push)
                  ("on" (hive-words "on"))
                  ("failed" (propertize (hive-text-line (plist-get phone :push_failed) 80)
                                        'face 'hive-critical))
                  (_ "")))))

(defun hive-phone--refresh ()
  "Fetch the phones and print them, if their list exists."
  (hive-in-buffer hive-phone--list
    (hive-rpc-fetch
     'phone/list nil
     :then (lambda (result)
             (setq hive-phone--phones (append (plist-get result :phones) nil)
                   tabulated-list-entries (mapcar #'hive-phone--entry hive-phone--phones))
             (tabulated-list-print t)
             (hive-text-say-empty
              (unless tabulated-list-entries
                (substitute-command-keys
                 (hive-words "\\<hive-phone-list-mode-map>No phone is paired.  \\[hive-phone] pairs one.")))))
     :failure 'from-sidecar)))

(defun hive-phone--at-point ()
  "Return the phone on this line."
  (or (hive-find :device_id (tabulated-list-get-id) hive-phone--phones)
      (hive-fail "There is no phone on this line")))

(defun hive-phone-revoke ()
  "Take away the access of the phone on this line, at once.
It has to be paired again before it can be used."
  (declare (modes hive-phone-list-mode))
  (interactive)
  (let* ((phone (hive-phone--at-point)) (name (hive-phone--name phone)))
    (when (y-or-n-p (hive-words "Revoke %s?  It loses its access at once. " name))
      (hive-rpc-request
       'phone/revoke (list :device_id (plist-get phone :device_id))
       :success (lambda (result)
                  (let ((problem (plist-get result :problem)))
                    (if (stringp problem)
                        (hive-announce 'from-sidecar (hive-text-line problem 400))
                      (hive-announce "Revoked %s; it no longer has access" name)))
                  (hive-phone--refresh))
       :error (hive-announcing 'from-sidecar)))))

(defun hive-phone-allow ()
  "Let the phone on this line allow permissions.
Its key is then listed among your seats, in your own file."
  (declare (modes hive-phone-list-mode))
  (interactive)
  (let ((phone (hive-phone--at-point)))
    (unless (equal (plist-get phone :state) "confirmed")
      (hive-fail "Only a phone that is paired may allow permissions"))
    (when (yes-or-no-p
           (hive-words "Let %s allow what agents ask for, from anywhere, as you can here? "
                       (hive-phone--name phone)))
      (hive-rpc-request
       'phone/allow (list :device_id (plist-get phone :device_id))
       :success (lambda (result)
                  (hive-announce 'from-sidecar (hive-text-line (plist-get result :text) 600))
                  (hive-phone--refresh))
       :error (hive-announcing 'from-sidecar)))))

;;;###autoload
(defun hive-phone-list ()
  "Show the phones that are paired with this hive.
There you can revoke one, or let one allow permissions."
  (declare (modes hive-list-mode))
  (interactive)
  (pop-to-buffer (hive-buffer hive-phone--list #'hive-phone-list-mode))
  (hive-phone--refresh))

;;;; Menus

(declare-function hive-menu-add "hive-menu")

(with-eval-after-load 'hive-menu
  (hive-menu-add hive-phone-keys 'hive-phone-mode)
  (hive-menu-add hive-phone-list-keys 'hive-phone-list-mode))

;;;; Notifications from the sidecar

(cl-defmethod hive-rpc-handle ((_method (eql 'phone/changed)) _phone)
  "Update the buffers that show a phone, which has changed."
  (hive-phone--look)
  (hive-phone--refresh))

;; A notification may have been lost with the connection.
(add-hook 'hive-connected-hook #'hive-phone--look)

(provide 'hive-phone)
;;; hive-phone.el ends here
